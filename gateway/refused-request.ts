// RefusedRequest: the answer to a request that its connection refuses.
import { answerMessage } from '@svc/forward/own-answer';
import type { MessageFailure, Refusal, WholeResponse } from '@svc/http1';
import { gatewayAnswer } from './gateway-answers.ts';

export function refusedWith(refusal: Refusal): WholeResponse {
  return answerMessage(
    refusal.code === 'too-many-requests'
      ? gatewayAnswer('too-many-requests', {})
      : gatewayAnswer('request-malformed', {
          failure: { ...refusal, code: refusal.code } as MessageFailure,
        }),
  );
}
