"""The doctor: what limits an input, why, and what each fix gains."""
