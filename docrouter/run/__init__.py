"""`make run`: one supervisor that starts what is missing, watches over it, and stops exactly what it started."""
