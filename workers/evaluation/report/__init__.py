"""The evaluation report: one page of tables and plots, made of results files and nothing else."""
