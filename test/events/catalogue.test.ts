import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { catalogue, metadataSchema } from '../../src/events/catalogue.ts'
import { toEventMetadata, type Origin } from '../../src/events/event-metadata.ts'
import { payloadVersionOf } from '../../src/domain/event.ts'
import { EVENTS } from '../../src/events/registry.ts'
import { recordings } from './recordings.ts'

const test = suite('the event catalogue')

const { events } = catalogue()
const recorded = recordings()

test('has every event type in its current version', () => {
  assert.equal(
    events.map(({ type, version }) => `${type} ${version}`).toSorted(),
    Object.entries(EVENTS)
      .map(([type, event]) => `${type} ${payloadVersionOf(event)}`)
      .toSorted(),
  )
  assert.equal(
    catalogue(['DiamondScored', 'SecretBurned']).events.map(({ type }) => type),
    ['DiamondScored', 'SecretBurned'],
  )
})

for (const { type, version, schema, changes } of events) {
  test(`has a JSON Schema for ${type} that accepts the recorded example and rejects other values`, () => {
    const read = z.fromJSONSchema(schema)
    const { data } = recorded.get(`${type}.${version}.json`) ?? { data: undefined }
    assert.ok(read.safeParse(data).success, JSON.stringify(read.safeParse(data).error?.issues))
    assert.not.ok(read.safeParse('a text').success)
    for (const name of (schema['required'] as string[] | undefined) ?? []) {
      assert.not.ok(read.safeParse({ ...data, [name]: undefined }).success, `without ${name}`)
    }
  })

  test(`describes the changes of each version of ${type}`, () => {
    const numbers = Array.from({ length: version - 1 }, (_, index) => String(index + 2))
    assert.equal(Object.keys(changes), numbers)
  })
}

test('names the streams of the recorded events', () => {
  for (const { stream, type } of recorded.values()) {
    const named = events.find((event) => event.type === type)?.stream ?? ''
    const form = new RegExp(`^${named.replaceAll(/\{\w+\}/g, '[^-]+')}$`)
    assert.match(stream, form, type)
  }
})

const strict = z.strictObject(metadataSchema.shape)

test('has every member of the metadata of events', () => {
  const origin: Required<Origin> = {
    actor: 'scoring',
    via: 'projection',
    client: '1_x',
    correlation: 'x',
    osUser: 'ann',
    causation: 'y',
    trace: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  }
  for (const written of [toEventMetadata(origin, 0), ...[...recorded.values()].map((event) => event.metadata)]) {
    const { error } = strict.safeParse(written)
    assert.is(error, undefined, JSON.stringify(error?.issues))
  }
})

test.run()
