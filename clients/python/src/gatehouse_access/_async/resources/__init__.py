"""One class per resource of the API."""
