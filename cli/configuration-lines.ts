// ConfigurationLines: the values that a module declares as its configuration, for a person. They have no values of secrets, and no
// values at all that an operator gives.
import { declaredTypeName, declaredValues, type ModuleDescriptor } from '@svc/contract';

/** Returns a line for each value: its name, its type, and whether it has to be given. */
export function configurationLines(descriptor: ModuleDescriptor): readonly string[] {
  return declaredValues(descriptor).map(({ name, schema, isRequired, isSecret, fallback }) => {
    const type = declaredTypeName(schema, descriptor.types).replace(/^an? /, '');
    const given = isRequired
      ? 'required'
      : fallback === undefined
        ? 'may be left out'
        : `default ${JSON.stringify(fallback)}`;
    return `${name.padEnd(14)} ${type}, ${isSecret ? 'secret, ' : ''}${given}`;
  });
}
