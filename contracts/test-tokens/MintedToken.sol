// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The books of a test token: balances, allowances, and a minter set at deployment
/// @notice The minter can pause all transfers and block addresses, as the issuers of the real tokens can.
abstract contract MintedToken {
    uint8 public constant decimals = 6;
    address public immutable minter;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    bool public paused;
    mapping(address => bool) internal blocked;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    error NotMinter();
    error Paused();
    error Blocked(address account);
    error InsufficientBalance();
    error InsufficientAllowance();

    modifier onlyMinter() {
        if (msg.sender != minter) revert NotMinter();
        _;
    }

    constructor(address minter_, uint256 supply) {
        minter = minter_;
        _mint(minter_, supply);
    }

    function mint(address to, uint256 value) external onlyMinter {
        _mint(to, value);
    }

    function pause() external onlyMinter {
        paused = true;
    }

    function unpause() external onlyMinter {
        paused = false;
    }

    function _mint(address to, uint256 value) private {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function _transfer(address from, address to, uint256 value) internal virtual {
        if (paused) revert Paused();
        if (blocked[from]) revert Blocked(from);
        if (balanceOf[from] < value) revert InsufficientBalance();
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }

    function _approve(address owner, address spender, uint256 value) internal {
        allowance[owner][spender] = value;
        emit Approval(owner, spender, value);
    }

    function _spend(address owner, uint256 value) internal {
        uint256 allowed = allowance[owner][msg.sender];
        if (allowed < value) revert InsufficientAllowance();
        if (allowed != type(uint256).max) allowance[owner][msg.sender] = allowed - value;
    }
}
