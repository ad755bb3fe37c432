"""Is something hidden at work in sequences, does it move or stay, and could chance look like it?"""
