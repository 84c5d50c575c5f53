"""The library over HTTP."""

from __future__ import annotations

from svc_process import Context, Endpoint

from book import Lend, Loan, book, get, give_back, lend

books = Endpoint("/books", access="internet")


@books.get("/{isbn}")
async def get_book(isbn: str, context: Context) -> Loan:
    return await context.entity(book, isbn).call(get)


@books.post("/{isbn}/loan")
async def post_loan(isbn: str, body: Lend, context: Context) -> Loan:
    return await context.entity(book, isbn).call(lend, body)


@books.delete("/{isbn}/loan")
async def delete_loan(isbn: str, context: Context) -> None:
    await context.entity(book, isbn).call(give_back)
