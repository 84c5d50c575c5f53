// The schemas of the observability endpoint's responses about processes beside the runtime, as a part of observability-schema.ts.
import { Type } from 'typebox';
import { closed, Count, OrNull, Text } from './observability-values.ts';

export const processShapes = {
  /** Process of a web-hosted service. */
  WebProcess: Type.Object(
    {
      /** Null: it has ended, and is started again after a pause. */
      pid: OrNull(Count),
      /** Port of the loopback interface on which it has to listen. */
      port: Count,
      isListening: Type.Boolean(),
      /** How often it was started again. */
      restarts: Count,
    },
    closed,
  ),
  /** Process that holds the code of a service. */
  CodeProcess: Type.Object(
    {
      address: Text,
      /** Name and version of the SDK that serves the code. */
      sdk: Text,
      /** Why the process does not serve; null: it does. */
      problem: OrNull(Text),
    },
    closed,
  ),
};
