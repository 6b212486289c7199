"""What being right goes with once everything else is allowed for, from runs that are stored."""
