"""Files and words as they are written and shown: whole files, data of packages, documents, numbers, canonical JSON."""
