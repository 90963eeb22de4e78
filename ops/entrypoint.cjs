#!/usr/bin/node
// The image's `adamant` command; the image has no shell. MASTER_KEY_FILE reads the master key from a file, so that it appears
// neither in the image nor in `docker inspect`.
const { readFileSync } = require('node:fs')

const { MASTER_KEY_FILE: file, ADAMANT_MAIN: main = '/adamant/dist/main.js' } = process.env

try {
  if (file) process.env.MASTER_KEY = readFileSync(file, 'utf8').trim()
} catch (error) {
  console.error(`adamant: MASTER_KEY_FILE can't be read: ${error.message}`)
  process.exit(2)
}
process.argv[1] = main
import(main)
