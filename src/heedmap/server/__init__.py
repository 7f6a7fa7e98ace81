"""The local web application: one process that answers the page, one that holds the models and does the long work."""
