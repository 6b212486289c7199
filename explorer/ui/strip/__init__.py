"""The strip: an instance token by token, its words open to be clicked, swapped, typed over; one custom component."""
