"""The one door: `discover`, and what it gives back."""
