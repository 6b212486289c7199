"""The grammar behind the starter pairs and the templates of the starter entailments; nothing at run time needs it.

python -m explorer.benchmarks.starter_grammar     writes the generated files of starter_data/ anew
"""
