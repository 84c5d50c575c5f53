"""A program that serves the shopping cart in a process of its own. Its argument is the version of the cart."""

import sys

from svc_process import serve

from cart import cart, carts

serve(entities=[cart], endpoints=[carts], version=sys.argv[1] if len(sys.argv) > 1 else "1")
