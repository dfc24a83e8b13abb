"""What is said of statements after their games, in files beside the records: `file` keeps and checks it, `passages`
are the statements to annotate, `sheets` go to people and come back.
"""
