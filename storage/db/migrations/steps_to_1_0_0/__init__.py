"""What versions before 1.0.0 lack: from their last schema (0032) to that of 1.0.0.

``history.bring_to_first`` runs them; a new database has their result from the migration of 1.0.0
at once. They only grow, like released migrations, until 1.0.0 is released; then they are fixed.
"""
