import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestError } from '../../../src/domain/request-error.ts'
import { refuseLarge } from '../../../src/http/kit/json-body.ts'

const test = suite('the size of a JSON value')

/** 'fine', or the kind of the error. */
function verdictOn(text: string): string {
  try {
    refuseLarge(JSON.parse(text))
    return 'fine'
  } catch (error) {
    assert.instance(error, RequestError)
    return (error as RequestError).kind
  }
}

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const list = (length: number) => `[${Array(length).fill(0).join()}]`
const object = (length: number) => `{${[...Array(length).keys()].map((name) => `"${name}":0`).join()}}`

test('is limited to 32 levels', () => {
  assert.is(verdictOn(nested(32)), 'fine')
  assert.is(verdictOn(nested(33)), 'invalid')
  assert.is(verdictOn(nested(100_000)), 'invalid')
})

test('is limited to 1,000 members in one object or array', () => {
  for (const of of [list, object]) {
    assert.equal([verdictOn(of(1_000)), verdictOn(of(1_001))], ['fine', 'too-large'])
    assert.is(verdictOn(`{"a":{"b":${of(1_001)}}}`), 'too-large')
  }
})

test('is not limited inside strings or by numbers', () => {
  for (const text of ['"[[[,,,{{{"', '7', 'null', 'true']) assert.is(verdictOn(text), 'fine', text)
})

test.run()
