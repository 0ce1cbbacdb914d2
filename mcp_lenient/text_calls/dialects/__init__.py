"""The call formats of model families: `table` has their tokens, `grammar` what most of them share."""
