// GuestLost: the process of a guest was lost with a call in it. The call may be why, so that code which repeats calls counts these failures.
import { SvcError } from '@svc/kit/svc-error';

export class GuestLost extends SvcError {}
