"""The one door: how often, in expectation, does each assignment of a family occur?"""
