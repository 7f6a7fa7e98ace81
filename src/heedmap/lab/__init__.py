"""The lab: experiments that turn a picture into a tested claim, and the reports they write.

An experiment is items → rows → conclusion: `items` lists what is measured, `measure` runs the model and gives one row
an item, `conclude` computes every number of the report from the rows alone. That one idea carries resuming, shards,
many machines and running again.
"""
