"""The same delayed bandit, driven through the public interface of tarry and of other libraries."""
