// The field of a declared type: what a person fills in, by the type's kind. Types within types are fields within
// fields; what a type leaves open (null, left out, a case, a list's length) is a control of its own.
import { pathWithin } from '../view/json-value.ts';
import { visibleLine } from '../view/visible-text.ts';
import { casesOf, fieldsOf, resolved, sampleDraft, type Draft } from './draft.ts';
import { Closed, Frame, type FieldProps, type OfKind } from './field-frame.tsx';
import { ListField, MapField } from './list-field.tsx';
import { SimpleField } from './simple-field.tsx';

export function Field(props: FieldProps) {
  const { id, label, schema, draft, types, path, problems, beside, onChange } = props;
  const type = resolved(schema, types);
  if (type === undefined) return null;
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
    case 'nullable': {
      if (!('anyOf' in type)) return null;
      const inner = type.anyOf[0];
      const value = draft.value ?? sampleDraft(inner, types, label);
      const toggle = (
        <>
          <label class="check is-small">
            <input
              type="checkbox"
              checked={draft.isNull}
              aria-label={`${label}: null`}
              onChange={(event) =>
                onChange({ kind: 'nullable', isNull: event.currentTarget.checked, value })
              }
            />
            null
          </label>
          {beside}
        </>
      );
      if (draft.isNull) return <Closed label={label} word="null" beside={toggle} />;
      const set = (next: Draft) => onChange({ kind: 'nullable', isNull: false, value: next });
      return <Field {...props} schema={inner} draft={value} beside={toggle} onChange={set} />;
    }
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
            onClick={() => onChange(sampleDraft(schema, types, label))}
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

function RecordField({ label, draft, type, beside, ...rest }: OfKind<'record'>) {
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
        const leaveOut = type.required.includes(name) ? undefined : (
          <label class="check is-small">
            <input
              type="checkbox"
              checked={isLeftOut}
              aria-label={`${name}: leave out`}
              onChange={(event) => set(value, event.currentTarget.checked)}
            />
            leave out
          </label>
        );
        if (isLeftOut) return <Closed key={name} label={name} word="left out" beside={leaveOut} />;
        return (
          <Field
            {...rest}
            key={name}
            id={`${rest.id}-${name}`}
            label={name}
            schema={schema}
            draft={value}
            path={pathWithin(rest.path, name)}
            beside={leaveOut}
            onChange={(next) => set(next, false)}
          />
        );
      })}
    </Frame>
  );
}

function UnionField({ draft, type, beside, ...rest }: OfKind<'union'>) {
  if (!('oneOf' in type)) return null;
  const cases = casesOf(type, rest.types);
  const record = cases.get(draft.tag);
  const choose = (tag: string) => {
    const chosen = cases.get(tag);
    if (chosen === undefined) return;
    const value = sampleDraft(chosen, rest.types, rest.label);
    rest.onChange({ kind: 'union', tag, value });
  };
  return (
    <Frame label={rest.label} beside={beside ?? false}>
      <div class="field">
        <label for={`${rest.id}-type`}>type</label>
        <select
          id={`${rest.id}-type`}
          value={draft.tag}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          {[...cases.keys()].map((tag) => (
            <option key={tag} value={tag}>
              {visibleLine(tag)}
            </option>
          ))}
        </select>
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
