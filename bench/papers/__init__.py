"""Business papers that never existed: varied documents whose truth is known, made from a seed.

`python -m bench.papers FOLDER --seeds 0-299`. Every even seed may be looked at while the offline model is worked on;
odd ones are only scored, as a total. Languages, layouts, fonts, formats and noise are drawn at random; Dutch and the
column layout occur only in odd seeds.
"""
