"""What is asked of a learner, and what each usual mistake would give: all computed."""
