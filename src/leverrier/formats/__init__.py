"""Networks in files and in other packages' objects: untrusted text in, a model out, and back."""
