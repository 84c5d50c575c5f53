// Field: the control for a value of a declared type, chosen by the kind of its draft. Nested types are nested fields.
// The choices that a type leaves open (null, left out, a case, the length of a list) are controls of their own.
import { pathWithin } from '../view/json-value.ts';
import { visibleLine } from '../view/visible-text.ts';
import { casesOf, emptyDraft, fieldsOf, resolved, type Draft } from './draft.ts';
import { Frame, type FieldProps, type OfKind } from './field-frame.tsx';
import { ListField, MapField } from './list-field.tsx';
import { Presence } from './presence.tsx';
import { SimpleField } from './simple-field.tsx';

export function Field(props: FieldProps) {
  const { id, label, schema, draft, types, path, problems, beside, onChange } = props;
  const type = resolved(schema, types);
  if (type === undefined) return null;
  if (props.leaving !== undefined || draft.kind === 'nullable')
    return <Presence {...props} Inner={Field} />;
  const problem = problems.find((one) => one.path === path)?.message;
  switch (draft.kind) {
    case 'text':
    case 'number':
    case 'big':
      return <SimpleField {...props} draft={draft} type={type} problem={problem} />;
    case 'flag':
      return (
        <div class="field">
          <label class="check">
            <input
              id={id}
              type="checkbox"
              checked={draft.on}
              onChange={(event) => onChange({ kind: 'flag', on: event.currentTarget.checked })}
            />
            {visibleLine(label || 'Value')}
          </label>
          {beside}
        </div>
      );
    case 'null':
      return (
        <p class="field dim">
          {visibleLine(label)} null {beside}
        </p>
      );
    case 'list':
      return <ListField {...props} Inner={Field} draft={draft} type={type} />;
    case 'map':
      return <MapField {...props} Inner={Field} draft={draft} type={type} />;
    case 'record':
      return <RecordField {...props} draft={draft} type={type} />;
    case 'union':
      return <UnionField {...props} draft={draft} type={type} />;
    case 'unopened':
      return (
        <div class="field is-closed">
          <span class="field-label">{visibleLine(label)}</span>
          <button
            type="button"
            class="quiet"
            aria-label={`Fill in ${label}`}
            onClick={() => onChange(emptyDraft(schema, types))}
          >
            Fill in…
          </button>
          {beside}
        </div>
      );
    default:
      return null;
  }
}

function RecordField({ label, draft, type, beside, defaults, ...rest }: OfKind<'record'>) {
  if (!('properties' in type)) return null;
  const schemas = new Map(fieldsOf(type));
  return (
    <Frame label={label} beside={beside}>
      {draft.fields.length === 0 && <p class="dim">no fields</p>}
      {draft.fields.map((field, at) => {
        const { name, isLeftOut, value } = field;
        const schema = schemas.get(name);
        if (schema === undefined) return null;
        const set = (next: Draft, leftOut: boolean) =>
          rest.onChange({
            kind: 'record',
            fields: draft.fields.with(at, { name, isLeftOut: leftOut, value: next }),
          });
        const leaving = type.required.includes(name)
          ? undefined
          : { isLeftOut, leaveOut: () => set(value, true), defaultText: defaults?.get(name) };
        return (
          <Field
            {...rest}
            key={name}
            id={`${rest.id}-${name}`}
            label={name}
            schema={schema}
            draft={value}
            path={pathWithin(rest.path, name)}
            leaving={leaving}
            onChange={(next) => set(next, false)}
          />
        );
      })}
    </Frame>
  );
}

function UnionField({ draft, type, beside, ...rest }: OfKind<'union'>) {
  if (!('oneOf' in type)) return null;
  const problem = rest.problems.find((one) => one.path === rest.path)?.message;
  const cases = casesOf(type, rest.types);
  const record = cases.get(draft.tag);
  const choose = (tag: string) => {
    const chosen = cases.get(tag);
    if (chosen === undefined) return;
    const value = emptyDraft(chosen, rest.types);
    rest.onChange({ kind: 'union', tag, value });
  };
  return (
    <Frame label={rest.label} beside={beside ?? false}>
      <div class={`field ${problem === undefined ? '' : 'is-wrong'}`}>
        <label for={`${rest.id}-type`}>type</label>
        <select
          id={`${rest.id}-type`}
          value={draft.tag}
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? undefined : `${rest.id}-type-problem`}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          {draft.tag === '' && <option value="">Choose…</option>}
          {[...cases.keys()].map((tag) => (
            <option key={tag} value={tag}>
              {visibleLine(tag)}
            </option>
          ))}
        </select>
        {problem !== undefined && (
          <p class="field-problem" id={`${rest.id}-type-problem`}>
            {problem}
          </p>
        )}
      </div>
      {record !== undefined && draft.value !== undefined && (
        <Field
          {...rest}
          label=""
          schema={record}
          draft={draft.value}
          onChange={(value) => rest.onChange({ kind: 'union', tag: draft.tag, value })}
        />
      )}
    </Frame>
  );
}
