// Measures a page as somebody looks at it: what is cut, what overlaps, what cannot be read.
() => {
  const wrong = [];
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) wrong.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${wide}`);

  const channels = (colour) => {
    const [r, g, b, a = 1] = colour.match(/[\d.]+/g).map(Number);
    return { rgb: [r, g, b], a };
  };
  const light = (rgb) => rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const { rgb, a } = channels(getComputedStyle(e).backgroundColor);
      if (a === 1) return rgb;
    }
    return [255, 255, 255];
  };
  const faint = (element) => {
    for (let e = element; e; e = e.parentElement) if (getComputedStyle(e).opacity < 1) return true;
    return false;
  };

  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || element.closest(".sr, .skip, noscript, script, option") || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    if (element.closest("thead") && getComputedStyle(element.closest("thead")).clipPath !== "none") continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const style = getComputedStyle(element);
    for (const box of range.getClientRects()) if (box.width > 0) texts.push({ text: node.textContent.trim().slice(0, 40), box, element });
    const ink = light(channels(element.closest("svg") ? style.fill : style.color).rgb), paper = light(ground(element));
    const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    if (contrast < 4.5 && !faint(element)) wrong.push(`"${node.textContent.trim().slice(0, 40)}" has a contrast of ${contrast.toFixed(1)}`);
  }
  for (const { text, box, element } of texts) {
    if (box.left < -0.5 || box.right > wide + 0.5) wrong.push(`"${text}" is cut by the window, ${box.left.toFixed(0)} to ${box.right.toFixed(0)}`);
    const frame = element.closest("svg");
    if (frame) {
      const outer = frame.getBoundingClientRect();
      if (box.left < outer.left - 0.5 || box.right > outer.right + 0.5 || box.top < outer.top - 1 || box.bottom > outer.bottom + 1) wrong.push(`"${text}" is cut by its drawing`);
    }
    for (let e = element; e && e !== document.body; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (style.overflowX === "hidden" && e.scrollWidth > e.clientWidth + 1) wrong.push(`"${text}" is cut by ${e.className || e.tagName}`);
    }
  }
  for (let a = 0; a < texts.length; a++) {
    for (let b = a + 1; b < texts.length; b++) {
      const one = texts[a].box, two = texts[b].box;
      const across = Math.min(one.right, two.right) - Math.max(one.left, two.left);
      const down = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
      if (across > 1 && down > 4) wrong.push(`"${texts[a].text}" and "${texts[b].text}" overlap`);
    }
  }
  return [...new Set(wrong)].slice(0, 40);
}
