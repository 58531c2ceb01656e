extension UnsafeRawBufferPointer {
  /// The number that lies there, the lowest byte first.
  func number<Number: FixedWidthInteger & BitwiseCopyable>(
    _ offset: Int, _ type: Number.Type
  ) -> Number {
    Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Lays a number down, the lowest byte first.
  func put(_ number: some FixedWidthInteger & BitwiseCopyable, _ offset: Int) {
    storeBytes(of: number.littleEndian, toByteOffset: offset, as: type(of: number))
  }
}
