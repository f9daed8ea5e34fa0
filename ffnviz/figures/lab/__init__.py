"""Pictures of the Lab."""
