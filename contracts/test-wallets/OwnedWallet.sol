// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A test wallet that is a contract
/// @notice Takes the signatures of its owner's key for its own (ERC-1271), and does what its owner says.
contract OwnedWallet {
    bytes4 private constant APPROVED = 0x1626ba7e;
    address public immutable owner;

    error NotOwner();
    error CallFailed();

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65) return 0xffffffff;
        bytes32 r = bytes32(signature[0:32]);
        bytes32 s = bytes32(signature[32:64]);
        return ecrecover(hash, uint8(signature[64]), r, s) == owner ? APPROVED : bytes4(0xffffffff);
    }

    function call(address to, bytes calldata data) external {
        if (msg.sender != owner) revert NotOwner();
        (bool done, ) = to.call(data);
        if (!done) revert CallFailed();
    }
}
