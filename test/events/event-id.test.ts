import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { eventId, nameBasedUuid } from '../../src/events/event-metadata.ts'

const test = suite('an event id')

test('is the version 5 UUID of RFC 9562, appendix A.4', () => {
  const dns = Buffer.from('6ba7b8109dad11d180b400c04fd430c8', 'hex')
  assert.is(nameBasedUuid(dns, 'www.example.com'), '2ed6657d-e927-568b-95e1-2665a8aea6a2')
})

test('never changes between releases, so that a repeated append is not stored twice', () => {
  assert.is(eventId('0b2f8f0e-0f6b-4a38-9f9b-0d2b5a6d9a11', 0), '4a904a5b-11cf-59aa-a9e4-cc749f4dac19')
})

test('differs for each event of a command and for each command', () => {
  const ids = ['a', 'a/1', 'b'].flatMap((command) => [0, 1, 11].map((index) => eventId(command, index)))
  assert.is(new Set(ids).size, ids.length)
})

test.run()
