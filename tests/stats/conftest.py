from hypothesis import settings

# The first example of a test may import scipy or statsmodels, which takes longer than an example may.
settings.register_profile("imports on the way", deadline=None)
settings.load_profile("imports on the way")
