// AnswerResponse: sends an answer of whoever forwards as the response of an exchange.
import type { MessageFailure, Refusal, ServerExchange, WholeResponse } from '@svc/http1';
import { answer } from './answers.ts';
import { answerMessage, type OwnAnswer } from './own-answer.ts';

export function respondWith(exchange: ServerExchange, made: OwnAnswer): void {
  const { status, reason, fields, body }: WholeResponse = answerMessage(made);
  if (made.closes) exchange.closeAfterResponse();
  const sink = exchange.respond(status, reason, fields, { kind: 'length', bytes: body.length });
  sink.write(body);
  sink.end();
}

/** Composes the answer of the proxy to a request that its connection refuses. */
export function refusalResponse(refusal: Refusal): WholeResponse {
  return answerMessage(
    refusal.code === 'too-many-requests'
      ? answer('too-many-requests', {})
      : answer('request-malformed', {
          failure: { ...refusal, code: refusal.code } as MessageFailure,
        }),
  );
}
