"""Several continua at once behind a questionnaire of graded items: candidates, the joint comparison, the tests."""
