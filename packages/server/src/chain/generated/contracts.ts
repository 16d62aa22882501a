// Made from contracts/*.sol by `npm run generate`; do not edit.

export const compiler = {
  "solc": "0.8.37+commit.f401782d.Emscripten.clang",
  "evmVersion": "shanghai",
  "optimizer": {
    "enabled": true,
    "runs": 1000
  },
  "metadata": {
    "appendCBOR": false,
    "bytecodeHash": "none"
  },
  "outputSelection": {
    "*": {
      "*": [
        "abi",
        "evm.bytecode.object"
      ]
    }
  }
} as const

export const Forwarder = {
  "abi": [
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "treasury_",
          "type": "address"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "constructor"
    },
    {
      "inputs": [],
      "name": "NativeTransferFailed",
      "type": "error"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "token",
          "type": "address"
        }
      ],
      "name": "TransferFailed",
      "type": "error"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "token",
          "type": "address"
        }
      ],
      "name": "flush",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "flushNative",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "treasury",
      "outputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "stateMutability": "payable",
      "type": "receive"
    }
  ],
  "bytecode": "0x60a0604052348015600e575f5ffd5b50604051610477380380610477833981016040819052602b91603b565b6001600160a01b03166080526066565b5f60208284031215604a575f5ffd5b81516001600160a01b0381168114605f575f5ffd5b9392505050565b6080516103ed61008a5f395f818160680152818160c8015261020c01526103ed5ff3fe608060405260043610610036575f3560e01c80635d6fefc61461004157806361d027b31461005757806379c76e1a146100a6575f5ffd5b3661003d57005b5f5ffd5b34801561004c575f5ffd5b506100556100c5565b005b348015610062575f5ffd5b5061008a7f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b03909116815260200160405180910390f35b3480156100b1575f5ffd5b506100556100c036600461035e565b610171565b5f7f00000000000000000000000000000000000000000000000000000000000000006001600160a01b0316476040515f6040518083038185875af1925050503d805f811461012e576040519150601f19603f3d011682016040523d82523d5f602084013e610133565b606091505b505090508061016e576040517ff4b3b1bc00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b50565b6040517f70a082310000000000000000000000000000000000000000000000000000000081523060048201525f906001600160a01b038316906370a0823190602401602060405180830381865afa1580156101ce573d5f5f3e3d5ffd5b505050506040513d601f19601f820116820180604052508101906101f2919061038b565b9050805f036101ff575050565b6040516001600160a01b037f000000000000000000000000000000000000000000000000000000000000000081166024830152604482018390525f91829185169060640160408051601f198184030181529181526020820180517bffffffffffffffffffffffffffffffffffffffffffffffffffffffff167fa9059cbb00000000000000000000000000000000000000000000000000000000179052516102a691906103a2565b5f604051808303815f865af19150503d805f81146102df576040519150601f19603f3d011682016040523d82523d5f602084013e6102e4565b606091505b5091509150811580610312575080511580159061031257508080602001905181019061031091906103ce565b155b15610358576040517f39f1c8d90000000000000000000000000000000000000000000000000000000081526001600160a01b038516600482015260240160405180910390fd5b50505050565b5f6020828403121561036e575f5ffd5b81356001600160a01b0381168114610384575f5ffd5b9392505050565b5f6020828403121561039b575f5ffd5b5051919050565b5f82515f5b818110156103c157602081860181015185830152016103a7565b505f920191825250919050565b5f602082840312156103de575f5ffd5b81518015158114610384575f5ffd"
} as const

export const ForwarderFactory = {
  "abi": [
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "treasury",
          "type": "address"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "constructor"
    },
    {
      "inputs": [
        {
          "internalType": "bytes32",
          "name": "salt",
          "type": "bytes32"
        }
      ],
      "name": "DeployFailed",
      "type": "error"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "forwarder",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "address",
          "name": "token",
          "type": "address"
        }
      ],
      "name": "FlushFailed",
      "type": "event"
    },
    {
      "inputs": [
        {
          "internalType": "bytes32",
          "name": "salt",
          "type": "bytes32"
        }
      ],
      "name": "deploy",
      "outputs": [
        {
          "internalType": "address",
          "name": "forwarder",
          "type": "address"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "components": [
            {
              "internalType": "bytes32",
              "name": "salt",
              "type": "bytes32"
            },
            {
              "internalType": "address",
              "name": "token",
              "type": "address"
            }
          ],
          "internalType": "struct ForwarderFactory.Item[]",
          "name": "items",
          "type": "tuple[]"
        }
      ],
      "name": "flush",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "implementation",
      "outputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "bytes32",
          "name": "salt",
          "type": "bytes32"
        }
      ],
      "name": "predict",
      "outputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    }
  ],
  "bytecode": "0x60a060405234801561000f575f5ffd5b50604051610b03380380610b0383398101604081905261002e91610084565b8060405161003b90610077565b6001600160a01b039091168152602001604051809103905ff080158015610064573d5f5f3e3d5ffd5b506001600160a01b0316608052506100b1565b6104778061068c83390190565b5f60208284031215610094575f5ffd5b81516001600160a01b03811681146100aa575f5ffd5b9392505050565b6080516105b66100d65f395f818160aa015281816102cb015261040a01526105b65ff3fe608060405234801561000f575f5ffd5b506004361061004a575f3560e01c8063097a66c11461004e5780630e787cce146100635780632b85ba38146100925780635c60da1b146100a5575b5f5ffd5b61006161005c3660046104d4565b6100cc565b005b610076610071366004610545565b61028c565b6040516001600160a01b03909116815260200160405180910390f35b6100766100a0366004610545565b6103ab565b6100767f000000000000000000000000000000000000000000000000000000000000000081565b5f5b81811015610287575f6100fa8484848181106100ec576100ec61055c565b9050604002015f01356103ab565b90505f84848481811061010f5761010f61055c565b90506040020160200160208101906101279190610589565b90506001600160a01b0381166101ce57816001600160a01b0316635d6fefc66040518163ffffffff1660e01b81526004015f604051808303815f87803b15801561016f575f5ffd5b505af1925050508015610180575060015b6101c957806001600160a01b0316826001600160a01b03167fc5b17a866221dd7f58e7ef3bf01a810ae0fd6a2b1d01605a15ec1875636168c260405160405180910390a361027d565b61027d565b6040517f79c76e1a0000000000000000000000000000000000000000000000000000000081526001600160a01b0382811660048301528316906379c76e1a906024015f604051808303815f87803b158015610227575f5ffd5b505af1925050508015610238575060015b61027d57806001600160a01b0316826001600160a01b03167fc5b17a866221dd7f58e7ef3bf01a810ae0fd6a2b1d01605a15ec1875636168c260405160405180910390a35b50506001016100ce565b505050565b5f5f61032e604080517f3d602d80600a3d3981f3363d3d373d3d3d363d7300000000000000000000000060208201526bffffffffffffffffffffffff197f000000000000000000000000000000000000000000000000000000000000000060601b1660348201527f5af43d82803e903d91602b57fd5bf30000000000000000000000000000000000604882015281516037818303018152605790910190915290565b80516020918201206040517fff00000000000000000000000000000000000000000000000000000000000000928101929092526bffffffffffffffffffffffff193060601b1660218301526035820185905260558201819052915060750160408051601f1981840301815291905280516020909101209392505050565b5f6103b58261028c565b90506001600160a01b0381163b156103cc57919050565b5f61046d604080517f3d602d80600a3d3981f3363d3d373d3d3d363d7300000000000000000000000060208201526bffffffffffffffffffffffff197f000000000000000000000000000000000000000000000000000000000000000060601b1660348201527f5af43d82803e903d91602b57fd5bf30000000000000000000000000000000000604882015281516037818303018152605790910190915290565b90505f838251602084015ff59050826001600160a01b0316816001600160a01b0316146104cd576040517ff1a9a5630000000000000000000000000000000000000000000000000000000081526004810185905260240160405180910390fd5b5050919050565b5f5f602083850312156104e5575f5ffd5b823567ffffffffffffffff8111156104fb575f5ffd5b8301601f8101851361050b575f5ffd5b803567ffffffffffffffff811115610521575f5ffd5b8560208260061b8401011115610535575f5ffd5b6020919091019590945092505050565b5f60208284031215610555575f5ffd5b5035919050565b7f4e487b71000000000000000000000000000000000000000000000000000000005f52603260045260245ffd5b5f60208284031215610599575f5ffd5b81356001600160a01b03811681146105af575f5ffd5b93925050505660a0604052348015600e575f5ffd5b50604051610477380380610477833981016040819052602b91603b565b6001600160a01b03166080526066565b5f60208284031215604a575f5ffd5b81516001600160a01b0381168114605f575f5ffd5b9392505050565b6080516103ed61008a5f395f818160680152818160c8015261020c01526103ed5ff3fe608060405260043610610036575f3560e01c80635d6fefc61461004157806361d027b31461005757806379c76e1a146100a6575f5ffd5b3661003d57005b5f5ffd5b34801561004c575f5ffd5b506100556100c5565b005b348015610062575f5ffd5b5061008a7f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b03909116815260200160405180910390f35b3480156100b1575f5ffd5b506100556100c036600461035e565b610171565b5f7f00000000000000000000000000000000000000000000000000000000000000006001600160a01b0316476040515f6040518083038185875af1925050503d805f811461012e576040519150601f19603f3d011682016040523d82523d5f602084013e610133565b606091505b505090508061016e576040517ff4b3b1bc00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b50565b6040517f70a082310000000000000000000000000000000000000000000000000000000081523060048201525f906001600160a01b038316906370a0823190602401602060405180830381865afa1580156101ce573d5f5f3e3d5ffd5b505050506040513d601f19601f820116820180604052508101906101f2919061038b565b9050805f036101ff575050565b6040516001600160a01b037f000000000000000000000000000000000000000000000000000000000000000081166024830152604482018390525f91829185169060640160408051601f198184030181529181526020820180517bffffffffffffffffffffffffffffffffffffffffffffffffffffffff167fa9059cbb00000000000000000000000000000000000000000000000000000000179052516102a691906103a2565b5f604051808303815f865af19150503d805f81146102df576040519150601f19603f3d011682016040523d82523d5f602084013e6102e4565b606091505b5091509150811580610312575080511580159061031257508080602001905181019061031091906103ce565b155b15610358576040517f39f1c8d90000000000000000000000000000000000000000000000000000000081526001600160a01b038516600482015260240160405180910390fd5b50505050565b5f6020828403121561036e575f5ffd5b81356001600160a01b0381168114610384575f5ffd5b9392505050565b5f6020828403121561039b575f5ffd5b5051919050565b5f82515f5b818110156103c157602081860181015185830152016103a7565b505f920191825250919050565b5f602082840312156103de575f5ffd5b81518015158114610384575f5ffd"
} as const

export const TestPYUSD = {
  "abi": [
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "minter",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "supply",
          "type": "uint256"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "constructor"
    },
    {
      "inputs": [],
      "name": "AuthorizationSpent",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "CallerNotPayee",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "Expired",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "InsufficientAllowance",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "InsufficientBalance",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "InvalidSignature",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "NotMinter",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "NotYetValid",
      "type": "error"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "owner",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "address",
          "name": "spender",
          "type": "address"
        },
        {
          "indexed": false,
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "Approval",
      "type": "event"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "authorizer",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        }
      ],
      "name": "AuthorizationCanceled",
      "type": "event"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "authorizer",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        }
      ],
      "name": "AuthorizationUsed",
      "type": "event"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "indexed": false,
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "Transfer",
      "type": "event"
    },
    {
      "inputs": [],
      "name": "CANCEL_AUTHORIZATION_TYPEHASH",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "DOMAIN_SEPARATOR",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "PERMIT_TYPEHASH",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "RECEIVE_WITH_AUTHORIZATION_TYPEHASH",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "TRANSFER_WITH_AUTHORIZATION_TYPEHASH",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "name": "allowance",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "spender",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "approve",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        },
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "name": "authorizationState",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "name": "balanceOf",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "authorizer",
          "type": "address"
        },
        {
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        },
        {
          "internalType": "uint8",
          "name": "v",
          "type": "uint8"
        },
        {
          "internalType": "bytes32",
          "name": "r",
          "type": "bytes32"
        },
        {
          "internalType": "bytes32",
          "name": "s",
          "type": "bytes32"
        }
      ],
      "name": "cancelAuthorization",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "decimals",
      "outputs": [
        {
          "internalType": "uint8",
          "name": "",
          "type": "uint8"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "mint",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "minter",
      "outputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "name",
      "outputs": [
        {
          "internalType": "string",
          "name": "",
          "type": "string"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "name": "nonces",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "owner",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "spender",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "deadline",
          "type": "uint256"
        },
        {
          "internalType": "uint8",
          "name": "v",
          "type": "uint8"
        },
        {
          "internalType": "bytes32",
          "name": "r",
          "type": "bytes32"
        },
        {
          "internalType": "bytes32",
          "name": "s",
          "type": "bytes32"
        }
      ],
      "name": "permit",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "validAfter",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "validBefore",
          "type": "uint256"
        },
        {
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        },
        {
          "internalType": "uint8",
          "name": "v",
          "type": "uint8"
        },
        {
          "internalType": "bytes32",
          "name": "r",
          "type": "bytes32"
        },
        {
          "internalType": "bytes32",
          "name": "s",
          "type": "bytes32"
        }
      ],
      "name": "receiveWithAuthorization",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "symbol",
      "outputs": [
        {
          "internalType": "string",
          "name": "",
          "type": "string"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "totalSupply",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "transfer",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "transferFrom",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "validAfter",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "validBefore",
          "type": "uint256"
        },
        {
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        },
        {
          "internalType": "uint8",
          "name": "v",
          "type": "uint8"
        },
        {
          "internalType": "bytes32",
          "name": "r",
          "type": "bytes32"
        },
        {
          "internalType": "bytes32",
          "name": "s",
          "type": "bytes32"
        }
      ],
      "name": "transferWithAuthorization",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "version",
      "outputs": [
        {
          "internalType": "string",
          "name": "",
          "type": "string"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    }
  ],
  "bytecode": "0x60a060405234801561000f575f5ffd5b506040516114a23803806114a283398101604081905261002e91610156565b604080518082018252600a81526914185e54185b081554d160b21b60208083019190915282518084018452600581526414165554d160da1b81830152835180850190945260018452603160f81b918401919091526001600160a01b0385166080529091848461009d82826100d1565b50600390506100ac8482610230565b5060046100b98382610230565b5060056100c68282610230565b505050505050610313565b805f5f8282546100e191906102ee565b90915550506001600160a01b0382165f908152600160205260408120805483929061010d9084906102ee565b90915550506040518181526001600160a01b038316905f907fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef9060200160405180910390a35050565b5f5f60408385031215610167575f5ffd5b82516001600160a01b038116811461017d575f5ffd5b6020939093015192949293505050565b634e487b7160e01b5f52604160045260245ffd5b600181811c908216806101b557607f821691505b6020821081036101d357634e487b7160e01b5f52602260045260245ffd5b50919050565b601f82111561022b578282111561022b57805f5260205f20601f840160051c602085101561020457505f5b90810190601f840160051c035f5b81811015610227575f83820155600101610212565b5050505b505050565b81516001600160401b038111156102495761024961018d565b61025d8161025784546101a1565b846101d9565b6020601f82116001811461028f575f83156102785750848201515b5f19600385901b1c1916600184901b1784556102e7565b5f84815260208120601f198516915b828110156102be578785015182556020948501946001909201910161029e565b50848210156102db57868401515f19600387901b60f8161c191681555b505060018360011b0184555b5050505050565b8082018082111561030d57634e487b7160e01b5f52601160045260245ffd5b92915050565b6080516111706103325f395f81816101ab015261056701526111705ff3fe608060405234801561000f575f5ffd5b5060043610610184575f3560e01c806370a08231116100dd578063d505accf11610088578063e3ee160e11610063578063e3ee160e146103b5578063e94a0102146103c8578063ef55bec6146103f5575f5ffd5b8063d505accf14610351578063d916948714610364578063dd62ed3e1461038b575f5ffd5b806395d89b41116100b857806395d89b411461030f578063a0cc6a6814610317578063a9059cbb1461033e575f5ffd5b806370a08231146102aa5780637ecebe00146102c95780637f2eecc3146102e8575f5ffd5b806330adf81f1161013d57806340c10f191161011857806340c10f191461027a57806354fd4d501461028f5780635a049a7014610297575f5ffd5b806330adf81f14610231578063313ce567146102585780633644e51514610272575f5ffd5b8063095ea7b31161016d578063095ea7b3146101e557806318160ddd1461020857806323b872dd1461021e575f5ffd5b806306fdde031461018857806307546172146101a6575b5f5ffd5b610190610408565b60405161019d9190610df6565b60405180910390f35b6101cd7f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b03909116815260200161019d565b6101f86101f3366004610e5c565b610494565b604051901515815260200161019d565b6102105f5481565b60405190815260200161019d565b6101f861022c366004610e84565b6104aa565b6102107f6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c981565b610260600681565b60405160ff909116815260200161019d565b6102106104ca565b61028d610288366004610e5c565b61055c565b005b6101906105cc565b61028d6102a5366004610ece565b6105d9565b6102106102b8366004610f18565b60016020525f908152604090205481565b6102106102d7366004610f18565b60066020525f908152604090205481565b6102107fd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de881565b6101906106e2565b6102107f7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a226781565b6101f861034c366004610e5c565b6106ef565b61028d61035f366004610f38565b6106fb565b6102107f158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a159742981565b610210610399366004610f9e565b600260209081525f928352604080842090915290825290205481565b61028d6103c3366004610fcf565b6107de565b6101f86103d6366004610e5c565b600760209081525f928352604080842090915290825290205460ff1681565b61028d610403366004610fcf565b610887565b600380546104159061104a565b80601f01602080910402602001604051908101604052809291908181526020018280546104419061104a565b801561048c5780601f106104635761010080835404028352916020019161048c565b820191905f5260205f20905b81548152906001019060200180831161046f57829003601f168201915b505050505081565b5f6104a0338484610936565b5060015b92915050565b5f6104b58483610997565b6104c0848484610a2f565b5060019392505050565b5f7f8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f60036040516104fb9190611082565b604051809103902060056040516105129190611082565b60408051918290038220602083019490945281019190915260608101919091524660808201523060a082015260c00160405160208183030381529060405280519060200120905090565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146105be576040517ff8d2906c00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6105c88282610b1f565b5050565b600580546104159061104a565b6001600160a01b0385165f90815260076020908152604080832087845290915290205460ff161561061d57604051637960de1f60e11b815260040160405180910390fd5b604080517f158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a159742960208201526001600160a01b038716918101919091526060810185905261068690869060800160405160208183030381529060405280519060200120858585610ba4565b6001600160a01b0385165f818152600760209081526040808320888452909152808220805460ff19166001179055518692917f1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d8191a35050505050565b600480546104159061104a565b5f6104a0338484610a2f565b8342111561071c57604051630407b05b60e31b815260040160405180910390fd5b6001600160a01b0387165f90815260066020526040812080547f6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9918a918a918a91908661076883611132565b909155506040805160208101969096526001600160a01b0394851690860152929091166060840152608083015260a082015260c0810186905260e0016040516020818303038152906040528051906020012090506107c98882868686610ba4565b6107d4888888610936565b5050505050505050565b604080517f7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267602082018190526001600160a01b03808d1693830193909352918a1660608201526080810189905260a0810188905260c0810187905260e081018690525f90610100015b60405160208183030381529060405280519060200120905061086f8b828a8a8a8a8a8a610ced565b61087a8b8b8b610a2f565b5050505050505050505050565b6001600160a01b03881633146108c9576040517f0476d41900000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b604080517fd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8602082018190526001600160a01b03808d1693830193909352918a1660608201526080810189905260a0810188905260c0810187905260e081018690525f9061010001610847565b6001600160a01b038381165f8181526002602090815260408083209487168084529482529182902085905590518481527f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b92591015b60405180910390a3505050565b6001600160a01b0382165f908152600260209081526040808320338452909152902054818110156109f4576040517f13be252b00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f198114610a2a57610a06828261114a565b6001600160a01b0384165f9081526002602090815260408083203384529091529020555b505050565b6001600160a01b0383165f90815260016020526040902054811115610a80576040517ff4d678b800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6001600160a01b0383165f9081526001602052604081208054839290610aa790849061114a565b90915550506001600160a01b0382165f9081526001602052604081208054839290610ad390849061115d565b92505081905550816001600160a01b0316836001600160a01b03167fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef8360405161098a91815260200190565b805f5f828254610b2f919061115d565b90915550506001600160a01b0382165f9081526001602052604081208054839290610b5b90849061115d565b90915550506040518181526001600160a01b038316905f907fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef9060200160405180910390a35050565b7f7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0811115610be557604051638baa579f60e01b815260040160405180910390fd5b5f610bee6104ca565b6040517f1901000000000000000000000000000000000000000000000000000000000000602082015260228101919091526042810186905260620160408051601f1981840301815282825280516020918201205f80855291840180845281905260ff88169284019290925260608301869052608083018590529092509060019060a0016020604051602081039080840390855afa158015610c91573d5f5f3e3d5ffd5b5050604051601f1901519150506001600160a01b0381161580610cc65750866001600160a01b0316816001600160a01b031614155b15610ce457604051638baa579f60e01b815260040160405180910390fd5b50505050505050565b854211610d26576040517f3fb4e43f00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b844210610d4657604051630407b05b60e31b815260040160405180910390fd5b6001600160a01b0388165f90815260076020908152604080832087845290915290205460ff1615610d8a57604051637960de1f60e11b815260040160405180910390fd5b610d978888858585610ba4565b6001600160a01b0388165f818152600760209081526040808320888452909152808220805460ff19166001179055518692917f98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a591a35050505050505050565b602081525f82518060208401525f5b81811015610e225760208186018101516040868401015201610e05565b505f604082850101526040601f19601f83011684010191505092915050565b80356001600160a01b0381168114610e57575f5ffd5b919050565b5f5f60408385031215610e6d575f5ffd5b610e7683610e41565b946020939093013593505050565b5f5f5f60608486031215610e96575f5ffd5b610e9f84610e41565b9250610ead60208501610e41565b929592945050506040919091013590565b803560ff81168114610e57575f5ffd5b5f5f5f5f5f60a08688031215610ee2575f5ffd5b610eeb86610e41565b945060208601359350610f0060408701610ebe565b94979396509394606081013594506080013592915050565b5f60208284031215610f28575f5ffd5b610f3182610e41565b9392505050565b5f5f5f5f5f5f5f60e0888a031215610f4e575f5ffd5b610f5788610e41565b9650610f6560208901610e41565b95506040880135945060608801359350610f8160808901610ebe565b9699959850939692959460a0840135945060c09093013592915050565b5f5f60408385031215610faf575f5ffd5b610fb883610e41565b9150610fc660208401610e41565b90509250929050565b5f5f5f5f5f5f5f5f5f6101208a8c031215610fe8575f5ffd5b610ff18a610e41565b9850610fff60208b01610e41565b975060408a0135965060608a0135955060808a0135945060a08a0135935061102960c08b01610ebe565b989b979a50959894979396929550929360e081013593506101000135919050565b600181811c9082168061105e57607f821691505b60208210810361107c57634e487b7160e01b5f52602260045260245ffd5b50919050565b5f5f83545f8160011c9050600182168061109d57607f821691505b6020821081036110bb57634e487b7160e01b5f52602260045260245ffd5b8080156110cf57600181146110e457611112565b60ff1984168752821515830287019450611112565b5f888152602090205f5b8481101561110a578154898201526001909101906020016110ee565b505082870194505b50929695505050505050565b634e487b7160e01b5f52601160045260245ffd5b5f600182016111435761114361111e565b5060010190565b818103818111156104a4576104a461111e565b808201808211156104a4576104a461111e56"
} as const

export const TestUSDC = {
  "abi": [
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "minter",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "supply",
          "type": "uint256"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "constructor"
    },
    {
      "inputs": [],
      "name": "AuthorizationSpent",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "CallerNotPayee",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "Expired",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "InsufficientAllowance",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "InsufficientBalance",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "InvalidSignature",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "NotMinter",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "NotYetValid",
      "type": "error"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "owner",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "address",
          "name": "spender",
          "type": "address"
        },
        {
          "indexed": false,
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "Approval",
      "type": "event"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "authorizer",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        }
      ],
      "name": "AuthorizationCanceled",
      "type": "event"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "authorizer",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        }
      ],
      "name": "AuthorizationUsed",
      "type": "event"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "indexed": false,
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "Transfer",
      "type": "event"
    },
    {
      "inputs": [],
      "name": "CANCEL_AUTHORIZATION_TYPEHASH",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "DOMAIN_SEPARATOR",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "PERMIT_TYPEHASH",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "RECEIVE_WITH_AUTHORIZATION_TYPEHASH",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "TRANSFER_WITH_AUTHORIZATION_TYPEHASH",
      "outputs": [
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "name": "allowance",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "spender",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "approve",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        },
        {
          "internalType": "bytes32",
          "name": "",
          "type": "bytes32"
        }
      ],
      "name": "authorizationState",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "name": "balanceOf",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "authorizer",
          "type": "address"
        },
        {
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        },
        {
          "internalType": "uint8",
          "name": "v",
          "type": "uint8"
        },
        {
          "internalType": "bytes32",
          "name": "r",
          "type": "bytes32"
        },
        {
          "internalType": "bytes32",
          "name": "s",
          "type": "bytes32"
        }
      ],
      "name": "cancelAuthorization",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "decimals",
      "outputs": [
        {
          "internalType": "uint8",
          "name": "",
          "type": "uint8"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "mint",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "minter",
      "outputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "name",
      "outputs": [
        {
          "internalType": "string",
          "name": "",
          "type": "string"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "name": "nonces",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "owner",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "spender",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "deadline",
          "type": "uint256"
        },
        {
          "internalType": "uint8",
          "name": "v",
          "type": "uint8"
        },
        {
          "internalType": "bytes32",
          "name": "r",
          "type": "bytes32"
        },
        {
          "internalType": "bytes32",
          "name": "s",
          "type": "bytes32"
        }
      ],
      "name": "permit",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "validAfter",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "validBefore",
          "type": "uint256"
        },
        {
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        },
        {
          "internalType": "uint8",
          "name": "v",
          "type": "uint8"
        },
        {
          "internalType": "bytes32",
          "name": "r",
          "type": "bytes32"
        },
        {
          "internalType": "bytes32",
          "name": "s",
          "type": "bytes32"
        }
      ],
      "name": "receiveWithAuthorization",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "symbol",
      "outputs": [
        {
          "internalType": "string",
          "name": "",
          "type": "string"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "totalSupply",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "transfer",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "transferFrom",
      "outputs": [
        {
          "internalType": "bool",
          "name": "",
          "type": "bool"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "validAfter",
          "type": "uint256"
        },
        {
          "internalType": "uint256",
          "name": "validBefore",
          "type": "uint256"
        },
        {
          "internalType": "bytes32",
          "name": "nonce",
          "type": "bytes32"
        },
        {
          "internalType": "uint8",
          "name": "v",
          "type": "uint8"
        },
        {
          "internalType": "bytes32",
          "name": "r",
          "type": "bytes32"
        },
        {
          "internalType": "bytes32",
          "name": "s",
          "type": "bytes32"
        }
      ],
      "name": "transferWithAuthorization",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "version",
      "outputs": [
        {
          "internalType": "string",
          "name": "",
          "type": "string"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    }
  ],
  "bytecode": "0x60a060405234801561000f575f5ffd5b5060405161149f38038061149f83398101604081905261002e91610153565b60408051808201825260088152672aa9a21021b7b4b760c11b6020808301919091528251808401845260048152635553444360e01b81830152835180850190945260018452601960f91b918401919091526001600160a01b0385166080529091848461009a82826100ce565b50600390506100a9848261022d565b5060046100b6838261022d565b5060056100c3828261022d565b505050505050610310565b805f5f8282546100de91906102eb565b90915550506001600160a01b0382165f908152600160205260408120805483929061010a9084906102eb565b90915550506040518181526001600160a01b038316905f907fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef9060200160405180910390a35050565b5f5f60408385031215610164575f5ffd5b82516001600160a01b038116811461017a575f5ffd5b6020939093015192949293505050565b634e487b7160e01b5f52604160045260245ffd5b600181811c908216806101b257607f821691505b6020821081036101d057634e487b7160e01b5f52602260045260245ffd5b50919050565b601f821115610228578282111561022857805f5260205f20601f840160051c602085101561020157505f5b90810190601f840160051c035f5b81811015610224575f8382015560010161020f565b5050505b505050565b81516001600160401b038111156102465761024661018a565b61025a81610254845461019e565b846101d6565b6020601f82116001811461028c575f83156102755750848201515b5f19600385901b1c1916600184901b1784556102e4565b5f84815260208120601f198516915b828110156102bb578785015182556020948501946001909201910161029b565b50848210156102d857868401515f19600387901b60f8161c191681555b505060018360011b0184555b5050505050565b8082018082111561030a57634e487b7160e01b5f52601160045260245ffd5b92915050565b60805161117061032f5f395f81816101ab015261056701526111705ff3fe608060405234801561000f575f5ffd5b5060043610610184575f3560e01c806370a08231116100dd578063d505accf11610088578063e3ee160e11610063578063e3ee160e146103b5578063e94a0102146103c8578063ef55bec6146103f5575f5ffd5b8063d505accf14610351578063d916948714610364578063dd62ed3e1461038b575f5ffd5b806395d89b41116100b857806395d89b411461030f578063a0cc6a6814610317578063a9059cbb1461033e575f5ffd5b806370a08231146102aa5780637ecebe00146102c95780637f2eecc3146102e8575f5ffd5b806330adf81f1161013d57806340c10f191161011857806340c10f191461027a57806354fd4d501461028f5780635a049a7014610297575f5ffd5b806330adf81f14610231578063313ce567146102585780633644e51514610272575f5ffd5b8063095ea7b31161016d578063095ea7b3146101e557806318160ddd1461020857806323b872dd1461021e575f5ffd5b806306fdde031461018857806307546172146101a6575b5f5ffd5b610190610408565b60405161019d9190610df6565b60405180910390f35b6101cd7f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b03909116815260200161019d565b6101f86101f3366004610e5c565b610494565b604051901515815260200161019d565b6102105f5481565b60405190815260200161019d565b6101f861022c366004610e84565b6104aa565b6102107f6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c981565b610260600681565b60405160ff909116815260200161019d565b6102106104ca565b61028d610288366004610e5c565b61055c565b005b6101906105cc565b61028d6102a5366004610ece565b6105d9565b6102106102b8366004610f18565b60016020525f908152604090205481565b6102106102d7366004610f18565b60066020525f908152604090205481565b6102107fd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de881565b6101906106e2565b6102107f7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a226781565b6101f861034c366004610e5c565b6106ef565b61028d61035f366004610f38565b6106fb565b6102107f158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a159742981565b610210610399366004610f9e565b600260209081525f928352604080842090915290825290205481565b61028d6103c3366004610fcf565b6107de565b6101f86103d6366004610e5c565b600760209081525f928352604080842090915290825290205460ff1681565b61028d610403366004610fcf565b610887565b600380546104159061104a565b80601f01602080910402602001604051908101604052809291908181526020018280546104419061104a565b801561048c5780601f106104635761010080835404028352916020019161048c565b820191905f5260205f20905b81548152906001019060200180831161046f57829003601f168201915b505050505081565b5f6104a0338484610936565b5060015b92915050565b5f6104b58483610997565b6104c0848484610a2f565b5060019392505050565b5f7f8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f60036040516104fb9190611082565b604051809103902060056040516105129190611082565b60408051918290038220602083019490945281019190915260608101919091524660808201523060a082015260c00160405160208183030381529060405280519060200120905090565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146105be576040517ff8d2906c00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6105c88282610b1f565b5050565b600580546104159061104a565b6001600160a01b0385165f90815260076020908152604080832087845290915290205460ff161561061d57604051637960de1f60e11b815260040160405180910390fd5b604080517f158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a159742960208201526001600160a01b038716918101919091526060810185905261068690869060800160405160208183030381529060405280519060200120858585610ba4565b6001600160a01b0385165f818152600760209081526040808320888452909152808220805460ff19166001179055518692917f1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d8191a35050505050565b600480546104159061104a565b5f6104a0338484610a2f565b8342111561071c57604051630407b05b60e31b815260040160405180910390fd5b6001600160a01b0387165f90815260066020526040812080547f6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9918a918a918a91908661076883611132565b909155506040805160208101969096526001600160a01b0394851690860152929091166060840152608083015260a082015260c0810186905260e0016040516020818303038152906040528051906020012090506107c98882868686610ba4565b6107d4888888610936565b5050505050505050565b604080517f7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267602082018190526001600160a01b03808d1693830193909352918a1660608201526080810189905260a0810188905260c0810187905260e081018690525f90610100015b60405160208183030381529060405280519060200120905061086f8b828a8a8a8a8a8a610ced565b61087a8b8b8b610a2f565b5050505050505050505050565b6001600160a01b03881633146108c9576040517f0476d41900000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b604080517fd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8602082018190526001600160a01b03808d1693830193909352918a1660608201526080810189905260a0810188905260c0810187905260e081018690525f9061010001610847565b6001600160a01b038381165f8181526002602090815260408083209487168084529482529182902085905590518481527f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b92591015b60405180910390a3505050565b6001600160a01b0382165f908152600260209081526040808320338452909152902054818110156109f4576040517f13be252b00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f198114610a2a57610a06828261114a565b6001600160a01b0384165f9081526002602090815260408083203384529091529020555b505050565b6001600160a01b0383165f90815260016020526040902054811115610a80576040517ff4d678b800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6001600160a01b0383165f9081526001602052604081208054839290610aa790849061114a565b90915550506001600160a01b0382165f9081526001602052604081208054839290610ad390849061115d565b92505081905550816001600160a01b0316836001600160a01b03167fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef8360405161098a91815260200190565b805f5f828254610b2f919061115d565b90915550506001600160a01b0382165f9081526001602052604081208054839290610b5b90849061115d565b90915550506040518181526001600160a01b038316905f907fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef9060200160405180910390a35050565b7f7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0811115610be557604051638baa579f60e01b815260040160405180910390fd5b5f610bee6104ca565b6040517f1901000000000000000000000000000000000000000000000000000000000000602082015260228101919091526042810186905260620160408051601f1981840301815282825280516020918201205f80855291840180845281905260ff88169284019290925260608301869052608083018590529092509060019060a0016020604051602081039080840390855afa158015610c91573d5f5f3e3d5ffd5b5050604051601f1901519150506001600160a01b0381161580610cc65750866001600160a01b0316816001600160a01b031614155b15610ce457604051638baa579f60e01b815260040160405180910390fd5b50505050505050565b854211610d26576040517f3fb4e43f00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b844210610d4657604051630407b05b60e31b815260040160405180910390fd5b6001600160a01b0388165f90815260076020908152604080832087845290915290205460ff1615610d8a57604051637960de1f60e11b815260040160405180910390fd5b610d978888858585610ba4565b6001600160a01b0388165f818152600760209081526040808320888452909152808220805460ff19166001179055518692917f98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a591a35050505050505050565b602081525f82518060208401525f5b81811015610e225760208186018101516040868401015201610e05565b505f604082850101526040601f19601f83011684010191505092915050565b80356001600160a01b0381168114610e57575f5ffd5b919050565b5f5f60408385031215610e6d575f5ffd5b610e7683610e41565b946020939093013593505050565b5f5f5f60608486031215610e96575f5ffd5b610e9f84610e41565b9250610ead60208501610e41565b929592945050506040919091013590565b803560ff81168114610e57575f5ffd5b5f5f5f5f5f60a08688031215610ee2575f5ffd5b610eeb86610e41565b945060208601359350610f0060408701610ebe565b94979396509394606081013594506080013592915050565b5f60208284031215610f28575f5ffd5b610f3182610e41565b9392505050565b5f5f5f5f5f5f5f60e0888a031215610f4e575f5ffd5b610f5788610e41565b9650610f6560208901610e41565b95506040880135945060608801359350610f8160808901610ebe565b9699959850939692959460a0840135945060c09093013592915050565b5f5f60408385031215610faf575f5ffd5b610fb883610e41565b9150610fc660208401610e41565b90509250929050565b5f5f5f5f5f5f5f5f5f6101208a8c031215610fe8575f5ffd5b610ff18a610e41565b9850610fff60208b01610e41565b975060408a0135965060608a0135955060808a0135945060a08a0135935061102960c08b01610ebe565b989b979a50959894979396929550929360e081013593506101000135919050565b600181811c9082168061105e57607f821691505b60208210810361107c57634e487b7160e01b5f52602260045260245ffd5b50919050565b5f5f83545f8160011c9050600182168061109d57607f821691505b6020821081036110bb57634e487b7160e01b5f52602260045260245ffd5b8080156110cf57600181146110e457611112565b60ff1984168752821515830287019450611112565b5f888152602090205f5b8481101561110a578154898201526001909101906020016110ee565b505082870194505b50929695505050505050565b634e487b7160e01b5f52601160045260245ffd5b5f600182016111435761114361111e565b5060010190565b818103818111156104a4576104a461111e565b808201808211156104a4576104a461111e56"
} as const

export const TestUSDT = {
  "abi": [
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "minter",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "supply",
          "type": "uint256"
        }
      ],
      "stateMutability": "nonpayable",
      "type": "constructor"
    },
    {
      "inputs": [],
      "name": "AllowanceNotZero",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "FeeTooHigh",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "InsufficientAllowance",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "InsufficientBalance",
      "type": "error"
    },
    {
      "inputs": [],
      "name": "NotMinter",
      "type": "error"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "owner",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "address",
          "name": "spender",
          "type": "address"
        },
        {
          "indexed": false,
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "Approval",
      "type": "event"
    },
    {
      "anonymous": false,
      "inputs": [
        {
          "indexed": true,
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "indexed": true,
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "indexed": false,
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "Transfer",
      "type": "event"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "name": "allowance",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "spender",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "approve",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "name": "balanceOf",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "basisPointsRate",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "decimals",
      "outputs": [
        {
          "internalType": "uint8",
          "name": "",
          "type": "uint8"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "mint",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "minter",
      "outputs": [
        {
          "internalType": "address",
          "name": "",
          "type": "address"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "name",
      "outputs": [
        {
          "internalType": "string",
          "name": "",
          "type": "string"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "uint256",
          "name": "basisPoints",
          "type": "uint256"
        }
      ],
      "name": "setFee",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "symbol",
      "outputs": [
        {
          "internalType": "string",
          "name": "",
          "type": "string"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [],
      "name": "totalSupply",
      "outputs": [
        {
          "internalType": "uint256",
          "name": "",
          "type": "uint256"
        }
      ],
      "stateMutability": "view",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "transfer",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    },
    {
      "inputs": [
        {
          "internalType": "address",
          "name": "from",
          "type": "address"
        },
        {
          "internalType": "address",
          "name": "to",
          "type": "address"
        },
        {
          "internalType": "uint256",
          "name": "value",
          "type": "uint256"
        }
      ],
      "name": "transferFrom",
      "outputs": [],
      "stateMutability": "nonpayable",
      "type": "function"
    }
  ],
  "bytecode": "0x60a060405234801561000f575f5ffd5b506040516109df3803806109df83398101604081905261002e916100d5565b6001600160a01b03821660805281816100478282610050565b50505050610131565b805f5f828254610060919061010c565b90915550506001600160a01b0382165f908152600160205260408120805483929061008c90849061010c565b90915550506040518181526001600160a01b038316905f907fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef9060200160405180910390a35050565b5f5f604083850312156100e6575f5ffd5b82516001600160a01b03811681146100fc575f5ffd5b6020939093015192949293505050565b8082018082111561012b57634e487b7160e01b5f52601160045260245ffd5b92915050565b60805161088161015e5f395f8181610135015281816103290152818161037c015261053b01526108815ff3fe608060405234801561000f575f5ffd5b50600436106100da575f3560e01c806340c10f191161008857806395d89b411161006357806395d89b411461020c578063a9059cbb14610248578063dd62ed3e1461025b578063dd644f7214610285575f5ffd5b806340c10f19146101c757806369fe0e2d146101da57806370a08231146101ed575f5ffd5b806318160ddd116100b857806318160ddd1461018457806323b872dd1461019a578063313ce567146101ad575f5ffd5b806306fdde03146100de5780630754617214610130578063095ea7b31461016f575b5f5ffd5b61011a6040518060400160405280600a81526020017f546574686572205553440000000000000000000000000000000000000000000081525081565b60405161012791906106db565b60405180910390f35b6101577f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b039091168152602001610127565b61018261017d366004610741565b61028e565b005b61018c5f5481565b604051908152602001610127565b6101826101a8366004610769565b610304565b6101b5600681565b60405160ff9091168152602001610127565b6101826101d5366004610741565b61031e565b6101826101e83660046107a3565b610371565b61018c6101fb3660046107ba565b60016020525f908152604090205481565b61011a6040518060400160405280600481526020017f555344540000000000000000000000000000000000000000000000000000000081525081565b610182610256366004610741565b6103fa565b61018c6102693660046107da565b600260209081525f928352604080842090915290825290205481565b61018c60035481565b80158015906102be5750335f9081526002602090815260408083206001600160a01b038616845290915290205415155b156102f5576040517fe953bbb800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b610300338383610405565b5050565b61030e8382610466565b6103198383836104fd565b505050565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461036757604051633e34a41b60e21b815260040160405180910390fd5b6103008282610566565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146103ba57604051633e34a41b60e21b815260040160405180910390fd5b60148111156103f5576040517fcd4e616700000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b600355565b6103003383836104fd565b6001600160a01b038381165f8181526002602090815260408083209487168084529482529182902085905590518481527f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b92591015b60405180910390a3505050565b6001600160a01b0382165f908152600260209081526040808320338452909152902054818110156104c3576040517f13be252b00000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b5f198114610319576104d5828261081f565b6001600160a01b0384165f908152600260209081526040808320338452909152902055505050565b5f6127106003548361050f9190610838565b610519919061084f565b905061052f848461052a848661081f565b6105eb565b801561056057610560847f0000000000000000000000000000000000000000000000000000000000000000836105eb565b50505050565b805f5f828254610576919061086e565b90915550506001600160a01b0382165f90815260016020526040812080548392906105a290849061086e565b90915550506040518181526001600160a01b038316905f907fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef9060200160405180910390a35050565b6001600160a01b0383165f9081526001602052604090205481111561063c576040517ff4d678b800000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b6001600160a01b0383165f908152600160205260408120805483929061066390849061081f565b90915550506001600160a01b0382165f908152600160205260408120805483929061068f90849061086e565b92505081905550816001600160a01b0316836001600160a01b03167fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef8360405161045991815260200190565b602081525f82518060208401525f5b8181101561070757602081860181015160408684010152016106ea565b505f604082850101526040601f19601f83011684010191505092915050565b80356001600160a01b038116811461073c575f5ffd5b919050565b5f5f60408385031215610752575f5ffd5b61075b83610726565b946020939093013593505050565b5f5f5f6060848603121561077b575f5ffd5b61078484610726565b925061079260208501610726565b929592945050506040919091013590565b5f602082840312156107b3575f5ffd5b5035919050565b5f602082840312156107ca575f5ffd5b6107d382610726565b9392505050565b5f5f604083850312156107eb575f5ffd5b6107f483610726565b915061080260208401610726565b90509250929050565b634e487b7160e01b5f52601160045260245ffd5b818103818111156108325761083261080b565b92915050565b80820281158282048414176108325761083261080b565b5f8261086957634e487b7160e01b5f52601260045260245ffd5b500490565b808201808211156108325761083261080b56"
} as const

