import COpenSSL

/// ECDH on the curve P-256, with keys as bytes: scalars of 32, uncompressed points of 65.
enum P256Agreement {
    static let scalarBytes = 32
    static let pointBytes = 65

    /// OpenSSL only reads it.
    nonisolated(unsafe) private static let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)

    /// A new private key; nil when OpenSSL makes none.
    static func makePrivateKey() -> [UInt8]? {
        defer { ERR_clear_error() }
        guard let key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1) else { return nil }
        defer { EC_KEY_free(key) }
        guard EC_KEY_generate_key(key) == 1 else { return nil }
        return bytes(of: EC_KEY_get0_private_key(key))
    }

    /// The public key of a private one; nil when that is no private key.
    static func publicKey(of privateKey: [UInt8]) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard let group, let scalar = scalar(privateKey, of: group) else { return nil }
        defer { BN_clear_free(scalar) }
        guard let point = EC_POINT_new(group) else { return nil }
        defer { EC_POINT_free(point) }
        guard EC_POINT_mul(group, point, scalar, nil, nil, nil) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: pointBytes)
        let written = EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, nil)
        return written == pointBytes ? bytes : nil
    }

    /// The x coordinate of the shared point, 32 bytes; nil when one of both is no key.
    static func secret(of privateKey: [UInt8], with publicKey: [UInt8]) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard let group, publicKey.count == pointBytes, let scalar = scalar(privateKey, of: group) else { return nil }
        defer { BN_clear_free(scalar) }
        guard let other = EC_POINT_new(group) else { return nil }
        defer { EC_POINT_free(other) }
        // It refuses what is not on the curve.
        guard EC_POINT_oct2point(group, other, publicKey, publicKey.count, nil) == 1 else { return nil }
        guard let shared = EC_POINT_new(group), let x = BN_new() else { return nil }
        defer {
            EC_POINT_clear_free(shared)
            BN_clear_free(x)
        }
        guard EC_POINT_mul(group, shared, nil, other, scalar, nil) == 1,
            EC_POINT_get_affine_coordinates(group, shared, x, nil, nil) == 1
        else { return nil }
        return bytes(of: x)
    }

    /// From 1 to below the order of the group.
    private static func scalar(_ bytes: [UInt8], of group: OpaquePointer) -> OpaquePointer? {
        guard bytes.count == scalarBytes, let number = BN_bin2bn(bytes, Int32(bytes.count), nil) else { return nil }
        guard BN_is_zero(number) == 0, BN_cmp(number, EC_GROUP_get0_order(group)) < 0 else {
            BN_clear_free(number)
            return nil
        }
        return number
    }

    private static func bytes(of number: OpaquePointer?) -> [UInt8]? {
        guard let number else { return nil }
        var bytes = [UInt8](repeating: 0, count: scalarBytes)
        return BN_bn2binpad(number, &bytes, Int32(bytes.count)) == Int32(scalarBytes) ? bytes : nil
    }
}
