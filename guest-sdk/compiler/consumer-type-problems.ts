// ConsumerTypeProblems: problems of consumers that entities and types reveal: unknown sources, and methods with other
// types than the runtime calls them with.
import type { ConsumerClass } from './consumer-declaration.ts';
import { displayName } from './schema-of-type.ts';
import {
  eventOfSource,
  sdkClass,
  signatureOfSource,
  takesEvent,
  type SourceCheck,
} from './source-type-problems.ts';

export function checkConsumer(check: SourceCheck, { name, sources }: ConsumerClass): void {
  for (const source of sources) {
    const event = eventOfSource(check, `consumer '${name}'`, source);
    const signature = event && signatureOfSource(check, source);
    if (event === undefined || signature === undefined) continue;
    const { parameters, returned } = signature;
    const isVerdict = returned !== undefined && sdkClass(returned) === 'consumer/Verdict';
    if (isVerdict && takesEvent(parameters, event)) continue;
    const method = source.method.name;
    check.report(
      method.range,
      `'${method.text}' of consumer '${name}' has other parameters or another type than the runtime calls it with`,
      `write ${method.text}(event: ${displayName(event)}, context: EventContext): Verdict`,
    );
  }
}
