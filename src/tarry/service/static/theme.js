// Sets the colours before anything is painted; "auto" follows the system.
(() => {
  let kept = null;
  try { kept = localStorage.getItem("tarry-theme"); } catch { /* no storage: follow the system */ }
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
})();
