// The library over HTTP.
import { defineEndpoint, del, get, post } from '@svc/process';
import { Lend, Loan, book } from './book.ts';

export const libraryEndpoint = defineEndpoint({
  prefix: '/books',
  access: 'internet',
  routes: {
    get: get('/{isbn}', { reply: Loan }, ({ parameters }, { call }) =>
      call(book, parameters.isbn).get(),
    ),

    lend: post('/{isbn}/loan', { body: Lend, reply: Loan }, ({ parameters, body }, { call }) =>
      call(book, parameters.isbn).lend(body),
    ),

    giveBack: del('/{isbn}/loan', {}, ({ parameters }, { call }) =>
      call(book, parameters.isbn)['give-back'](),
    ),
  },
});
