/** The line by which a process says that it is done with one of its test files. */
export const endLine = (file: string, code: number): string => `\n<<< ${file} ended with ${code} >>>\n`

export const END_LINE = /\n<<< (.+) ended with (\d+) >>>\n/
