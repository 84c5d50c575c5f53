// Stopping is the failure of calls that come, or are still undecided, when the engine stops.
import { SvcError } from '@svc/kit/svc-error';

export function stopping(): SvcError {
  return new SvcError(
    'SVC_STOPPING',
    'The service is being stopped and takes no new calls. Try again when it is up.',
  );
}
