"""What models cost and what is known about them."""
