// Call: how a flow reaches entities. Endpoints and consumers have it in their contexts.
//
// A flow spans entities: it claims a place in the parent, creates the child, and confirms the claim (model/claims.ts). It
// decides with the replies of commands alone, never with queries: a request that is repeated with its idempotency key then
// gets the replies of the first time, takes the same way, and does nothing twice. What a flow that is cut off leaves behind is
// settled by consumers/.
import type { EndpointContext } from '@svc/host';

export type Call = EndpointContext['call'];
