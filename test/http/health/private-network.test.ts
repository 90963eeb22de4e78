import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isFromPrivateNetwork } from '../../../src/http/health/metrics.ts'

const test = suite('a request for metrics')

const near = ['127.0.0.1', '127.9.9.9', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.1.1', '::1']
const nearToo = ['::ffff:127.0.0.1', '::FFFF:10.0.0.1', 'fe80::1%eth0', 'fd12:3456::1']
const far = ['203.0.113.9', '172.32.0.1', '172.15.0.1', '11.0.0.1', '0.0.0.0', '100.64.0.1', '::', '2001:db8::1']
const farToo = ['::ffff:203.0.113.9', '', 'localhost', '127.1', '0x7f.1', '127.0.0.1.', 'unknown', '_hidden']

for (const peer of [...near, ...nearToo]) {
  test(`from ${peer} is from a private network`, () =>
    assert.ok(isFromPrivateNetwork({ peerAddress: peer, headers: {} })))
}

for (const peer of [...far, ...farToo]) {
  test(`from ${peer || 'an unknown address'} is not from a private network`, () => {
    assert.not.ok(isFromPrivateNetwork({ peerAddress: peer, headers: {} }))
  })
}

for (const headers of [
  { 'x-forwarded-for': '203.0.113.9' },
  { 'x-forwarded-for': '127.0.0.1, 203.0.113.9' },
  { 'x-forwarded-for': '203.0.113.9, 10.0.0.2' },
  { 'x-forwarded-for': 'unknown' },
  { 'x-forwarded-for': '10.0.0.1,' },
  { 'x-real-ip': '203.0.113.9' },
  { forwarded: 'for=203.0.113.9;proto=https' },
  { forwarded: 'for=10.0.0.1, For="[2001:db8::1]:4711"' },
  { forwarded: 'for=_hidden' },
  { 'x-forwarded-for': '10.0.0.1', forwarded: 'for=203.0.113.9' },
]) {
  test(`through a private proxy is not from a private network, with ${JSON.stringify(headers)}`, () => {
    assert.not.ok(isFromPrivateNetwork({ peerAddress: '127.0.0.1', headers }))
  })
}

for (const headers of [
  { 'x-forwarded-for': '10.0.0.1' },
  { 'x-forwarded-for': '192.168.1.9, 10.0.0.1:4711' },
  { forwarded: 'for="[fd00::1]:4711";by=203.0.113.43' },
]) {
  test(`through a private proxy is from a private network, with ${JSON.stringify(headers)}`, () => {
    assert.ok(isFromPrivateNetwork({ peerAddress: '10.0.0.2', headers }))
    assert.not.ok(isFromPrivateNetwork({ peerAddress: '203.0.113.9', headers }))
  })
}

test.run()
