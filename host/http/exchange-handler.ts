// The handler of a server's connections: an Exchange answers each request, and requests that could not be read are answered
// here, in the form of all other errors.
import type { Refusal, ServerHandler } from '@svc/http1';
import { type Answer, errorAnswer } from './answers.ts';
import { Exchange } from './exchange.ts';
import type { ExchangeParts } from './exchange-parts.ts';
import type { HttpSettings } from './http-settings.ts';
import { formedAnswer } from './response-form.ts';
import { wholeResponse } from './response-writer.ts';

export function exchangeHandler(parts: ExchangeParts): ServerHandler {
  return {
    request: (exchange) => new Exchange(parts, exchange).run(),
    refused: (refusal) => {
      const answer = refusalAnswer(refusal, parts.settings);
      return wholeResponse(formedAnswer(answer, parts.form, undefined), parts.date?.());
    },
  };
}

function refusalAnswer({ code, status, reason }: Refusal, settings: HttpSettings): Answer {
  if (code === 'head-too-large')
    return errorAnswer(
      status,
      `The request line and the headers are longer than ${settings.headerBytesMax} bytes.`,
    );
  if (code === 'too-many-fields')
    return errorAnswer(status, `The request has more than ${settings.headersMax} headers.`);
  if (code === 'head-timeout' || code === 'body-timeout')
    return errorAnswer(status, 'The request took too long to arrive.');
  return errorAnswer(status, reason);
}
