"""A program that serves the order with its views and its consumer in a process of its own."""

from svc_process import serve

from orders import account, amounts, bookkeeping, order, orders, orders_endpoint

serve(
    entities=[order, account],
    endpoints=[orders_endpoint],
    views=[orders, amounts],
    consumers=[bookkeeping],
)
