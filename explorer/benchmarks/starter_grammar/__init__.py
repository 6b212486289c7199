"""The grammar behind the starter pairs and the templates of the starter entailments, and of part of the demonstration
corpus.

python -m explorer.benchmarks.starter_grammar     writes the generated files of starter_data/ anew
"""
