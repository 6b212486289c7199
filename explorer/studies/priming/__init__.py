"""Minimal pairs judged after contexts of growing length."""
