import { BSON, type Document } from 'mongodb'

/** Bytes of the header and of the flags of OP_MSG: https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/ */
const HEADER = 16
const FLAGS = 4
const OP_MSG = 2013

/** A message of the wire protocol. */
export type Message = {
  readonly bytes: Buffer
  readonly id: number
  readonly responseTo: number
  /** The body of an OP_MSG, with document sequences as members; undefined for other messages. */
  readonly body: Document | undefined
}

/** Splits received bytes into messages. @returns the complete messages and the remaining bytes */
export function messagesIn(bytes: Buffer): { messages: Message[]; rest: Buffer } {
  const messages: Message[] = []
  let rest = bytes
  while (rest.length >= HEADER && rest.length >= rest.readInt32LE(0)) {
    const length = rest.readInt32LE(0)
    messages.push(messageOf(rest.subarray(0, length)))
    rest = rest.subarray(length)
  }
  return { messages, rest }
}

function messageOf(bytes: Buffer): Message {
  const isReadable = bytes.readInt32LE(12) === OP_MSG
  return {
    bytes,
    id: bytes.readInt32LE(4),
    responseTo: bytes.readInt32LE(8),
    body: isReadable ? bodyOf(bytes) : undefined,
  }
}

function bodyOf(bytes: Buffer): Document {
  const body: Document = {}
  let at = HEADER + FLAGS
  while (at < bytes.length) {
    const isSequence = bytes[at] === 1
    const size = bytes.readInt32LE(at + 1)
    const section = bytes.subarray(at + 1, at + 1 + size)
    if (isSequence) Object.assign(body, sequenceIn(section))
    else Object.assign(body, BSON.deserialize(section, { useBigInt64: true }))
    at += 1 + size
  }
  return body
}

/** A document sequence: its size, its name terminated by 0, and its documents. */
function sequenceIn(section: Buffer): Document {
  const end = section.indexOf(0, 4)
  const documents: Document[] = []
  for (let at = end + 1; at < section.length; at += section.readInt32LE(at)) {
    documents.push(BSON.deserialize(section.subarray(at, at + section.readInt32LE(at)), { useBigInt64: true }))
  }
  return { [section.toString('utf8', 4, end)]: documents }
}

/** An OP_MSG that is the response to the message with this id. */
export function responseMessage(id: number, body: Document): Buffer {
  const document = BSON.serialize(body)
  const bytes = Buffer.alloc(HEADER + FLAGS + 1 + document.length)
  bytes.writeInt32LE(bytes.length, 0)
  bytes.writeInt32LE(id, 8)
  bytes.writeInt32LE(OP_MSG, 12)
  bytes.set(document, HEADER + FLAGS + 1)
  return bytes
}
