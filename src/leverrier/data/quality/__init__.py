"""What a careful analyst would notice in a table: each thing as a value; its words are made in the reports' layer."""
